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

preload();
const root = document.querySelector('#root');
if (root) createRoot(root).render(<App />);
