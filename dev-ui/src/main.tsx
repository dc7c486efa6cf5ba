import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/composer.css';
import './parts/parts.css';
import './parts/content.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { preload } from './app/preload.ts';

const element = document.querySelector('#root');
if (element) {
  const root = createRoot(element);
  const open = (): void => {
    preload();
    root.render(<App />);
  };
  // The server writes this into its page when it knows its callers.
  if (document.documentElement.dataset['callers'] !== 'known') open();
  else void import('./app/login/gate.tsx').then(({ openLoggedIn }) => openLoggedIn(root, open));
}
