import { ModelError } from '../../core/model.ts';
import { modelError, transportError } from '../model-errors.ts';
import { retryStrategy } from '../retry.ts';
import { type ConnectionEnd, ConnectionRefused } from './gemini-live-connection.ts';

type Secrets = readonly (string | undefined)[];

/** Close codes that mean a broken connection, not a problem of the conversation. */
const connectionLostCodes = new Set([1001, 1005, 1006, 1012, 1013, 1014]);

/** Why the provider closed a connection. */
export function closedError({ code, reason }: ConnectionEnd, secrets: Secrets): ModelError {
  const details = reason || `the connection was closed with code ${code}`;
  const known = modelError({ message: details, secrets });
  if (known.category !== 'UNKNOWN_ERROR') return known;
  const category = code === 1011 ? 'SERVER_ERROR' : connectionLostCodes.has(code) ? 'NETWORK_ERROR' : 'CLIENT_ERROR';
  const message = known.message.replace(/^Unknown model error: /, '');
  return new ModelError(category, `The model provider ended the live connection (${code}): ${message}`, {
    providerCode: `WEBSOCKET_${code}`,
  });
}

/** Why a connection could not be opened. */
export function openError(error: unknown, secrets: Secrets): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof ConnectionRefused) return closedError(error.end, secrets);
  const status = error instanceof Error ? /Unexpected server response: (\d{3})/.exec(error.message)?.[1] : undefined;
  if (status !== undefined) {
    return modelError({ message: `the connection was refused with status ${status}`, status: Number(status), secrets });
  }
  return transportError(error, secrets);
}

/** Whether a retry may succeed. */
export const isTransient = ({ category }: ModelError): boolean => retryStrategy(category) !== undefined;
