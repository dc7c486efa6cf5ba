import { prompt } from './prompts.tsx';

/** Asks for the id of a user whose sessions to show. */
export function askForUser(choose: (user: string) => void): void {
  prompt({ title: 'Another user', label: 'User id', action: 'Switch', onSubmit: (user) => choose(user.trim()) });
}
