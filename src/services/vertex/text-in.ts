/** What a service sent as a text; anything else counts as absent. */
export const textIn = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise);
