import { toast } from './toasts.tsx';

/** Copies a text and shows a toast; also when the browser has no clipboard (http on another machine). */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    toast('The browser does not let this page copy: it needs https or localhost', { tone: 'error' });
  }
}
