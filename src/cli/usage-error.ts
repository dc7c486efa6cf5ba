/** A mistake in how the program was called or configured: told in one line, ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
