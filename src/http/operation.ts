import type { WebSocket } from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Access, Caller } from './access/caller.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Request and reply, for handlers that need more than their input. */
export interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** What the caller may do beyond the operation's `access`, which is checked before the handler is called. */
  readonly caller: Caller;
}

/** The successful response, for the API description only: responses are not checked against it. */
export interface ResponseDescription {
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly mediaType?: string;
  readonly description?: string;
  /** Media types it may have instead, with any content. */
  readonly others?: readonly string[];
  /** Default 200. */
  readonly status?: number;
}

/** One operation of the API: an entry of the route table. */
export interface Operation {
  readonly method: Method;
  /**
   * Its paths, the canonical one first. `{name}` matches one segment; `{name+}` matches everything up to the next
   * literal, including slashes.
   */
  readonly paths: readonly [string, ...string[]];
  readonly tag: string;
  /** What it requires of its caller. */
  readonly access: Access;
  readonly summary: string;
  /** The feature in `/capabilities` that the operation belongs to; absent: every ADK server has it. */
  readonly feature?: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Whether the handler reads the body as a stream of bytes of any type; then there is no `body` schema. */
  readonly takesBytes?: true;
  /** Whether its response, or its WebSocket, stays open while events come: then it counts as a stream of its caller. */
  readonly opensStream?: true;
  readonly response: ResponseDescription;
  /**
   * Returns a value (sent as JSON; `undefined` as `null`), a `JsonText`, or the call's `reply` if it has sent the response
   * itself.
   */
  handle(input: Input, call: Call): unknown;
  /** Handles the WebSocket of an upgrade request. Absent: the operation does not support WebSockets. */
  accept?(socket: WebSocket, request: FastifyRequest, caller: Caller): void;
}

interface Input<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

interface OperationSpec<Params, Query, Body> extends Omit<Operation, 'params' | 'query' | 'body' | 'handle'> {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  handle(input: Input<OutputOf<Params>, OutputOf<Query>, OutputOf<Body>>, call: Call): unknown;
}

/** Declares an operation; its handler is typed by its schemas. */
export function operation<
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(spec: OperationSpec<Params, Query, Body>): Operation {
  return spec; // the table forgets the types; `mount` makes them true by parsing
}

/** A response that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
