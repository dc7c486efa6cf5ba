export const look = (): { seen: string } => ({ seen: 'something else' });
