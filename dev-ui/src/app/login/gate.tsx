import type { Root } from 'react-dom/client';
import { ApiError } from '../../api/server.ts';
import { getLocation, navigate } from '../location.ts';
import { LoginPage } from './login-page.tsx';
import { identify } from './me.ts';

/** Opens the app for a caller whom the server knows, and the login page for all others. */
export async function openLoggedIn(root: Root, open: () => void): Promise<void> {
  try {
    await identify();
  } catch (error) {
    const isLoggedOut = error instanceof ApiError && error.status === 401;
    root.render(<LoginPage failure={isLoggedOut ? undefined : error} />);
    return;
  }
  if (getLocation().path === '/login') navigate('/', { replace: true });
  open();
}
