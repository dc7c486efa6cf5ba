import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, errorText } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { OutboundFetch } from '../base/outbound-fetch.ts';
import type { A2aCard } from './wire.ts';

/**
 * The source of a remote agent's card: the card itself, the URL of its server (`http(s)`), the URL of the card (a path
 * that ends in `.json`), or a file on this machine.
 */
export type CardSource = string | URL | JsonObject;

export interface ResolvedCard {
  readonly card: A2aCard;
  /** The origin that the card was fetched from; `undefined` for an object or a file. */
  readonly origin: string | undefined;
}

/** Paths of the card, since protocol 0.3 and before. */
const wellKnown = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

/** Settings for fetching a card. */
export interface CardRequest {
  readonly fetch: OutboundFetch;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads a card of either protocol version. Throws AgentCardResolutionError, or the signal's reason. */
export async function resolveCard(
  source: CardSource,
  request: CardRequest,
  signal: AbortSignal,
): Promise<ResolvedCard> {
  if (typeof source !== 'string' && !(source instanceof URL)) return { card: await cardOf(source), origin: undefined };
  const url = asUrl(source);
  if (url && url.protocol !== 'file:') {
    return { card: await cardOf(await download(url, request, signal)), origin: url.origin };
  }
  const path = url ? fileURLToPath(url) : String(source);
  return { card: await cardOf(await readCardFile(path)), origin: undefined };
}

/** Converts a card to protocol 1.0. Throws AgentCardResolutionError for an invalid card. */
export async function cardOf(value: unknown): Promise<A2aCard> {
  if (!isJsonObject(value)) throw unresolved('is not a JSON object');
  const { DefaultAgentCardResolver } = await import('@a2a-js/sdk/client');
  let card: unknown;
  try {
    card = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(value);
  } catch (error) {
    throw unresolved(`cannot be read: ${errorText(error)}`, error);
  }
  if (hasInterfaces(card)) return card;
  throw unresolved('names no address to reach the agent at ("supportedInterfaces", or "url" before version 1.0)');
}

function hasInterfaces(card: unknown): card is A2aCard {
  if (typeof card !== 'object' || card === null || !('supportedInterfaces' in card)) return false;
  const { supportedInterfaces: interfaces } = card;
  return Array.isArray(interfaces) && interfaces.length > 0 && interfaces.every(({ url }) => isHttp(url));
}

const isHttp = (url: unknown): boolean => typeof url === 'string' && /^https?:\/\/[^/]/i.test(url);

function asUrl(source: string | URL): URL | undefined {
  if (source instanceof URL) return source;
  return /^(?:https?|file):/i.test(source) && URL.canParse(source) ? new URL(source) : undefined;
}

async function download(url: URL, request: CardRequest, signal: AbortSignal): Promise<unknown> {
  const isCard = url.pathname.endsWith('.json');
  const base = url.pathname.replace(/\/+$/, '');
  const places = isCard ? [url] : wellKnown.map((path) => new URL(`${base}${path}${url.search}`, url));
  let status = 0;
  for (const place of places) {
    let text: string;
    try {
      const headers = { accept: 'application/json', ...request.headers };
      const response = await request.fetch(place, { headers, signal });
      ({ status } = response);
      text = await response.text();
      if (!response.ok && status !== 404) break;
      if (!response.ok) continue;
    } catch (error) {
      signal.throwIfAborted();
      throw unresolved(`cannot be fetched from ${url.host}: ${reasonOf(error)}`, error);
    }
    return parsed(text, url.host);
  }
  throw unresolved(`cannot be fetched from ${url.host}: it answered ${status}`);
}

async function readCardFile(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw unresolved(`file "${basename(path)}" cannot be read`, error);
  }
  return parsed(text, `"${basename(path)}"`);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unresolved(`of ${where} is not JSON`, error);
  }
}

/** The reason of a failure: fetch has it in the `cause` of "fetch failed". */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.message === 'fetch failed' ? error.cause : undefined;
  return errorText(cause instanceof Error && cause.message !== '' ? cause : error);
}

const unresolved = (what: string, cause?: unknown): AppError =>
  new AppError('AgentCardResolutionError', `The agent card ${what}`, { cause });
