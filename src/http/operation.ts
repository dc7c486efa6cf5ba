import type { WebSocket } from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The exchange an operation answers, for the few that need more than their input. */
export interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What a successful answer looks like, for the API description only: answers are never checked against it. */
export interface Answer {
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly mediaType?: string;
  readonly description?: string;
  /** Media types it may have instead, with any content. */
  readonly others?: readonly string[];
  /** Default 200. */
  readonly status?: number;
}

/** One operation of the API, as the table holds it. */
export interface Operation {
  readonly method: Method;
  /**
   * Its spellings, the canonical one first. `{name}` takes one segment; `{name+}` takes the rest up to the next
   * literal, slashes included.
   */
  readonly paths: readonly [string, ...string[]];
  readonly tag: string;
  readonly summary: string;
  /** What `/capabilities` calls the ability that the operation is part of; absent: what every ADK server can do. */
  readonly feature?: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Whether the body is a stream of bytes of any type, which the handler reads; it has no `body` then. */
  readonly takesBytes?: true;
  readonly answer: Answer;
  /**
   * Answers the call: a value (sent as JSON; `undefined` as `null`), a `JsonText`, or the call's `reply` when the
   * answer is already on its way.
   */
  handle(input: Input, call: Call): unknown;
  /** Takes over the connection of a request that asked to become a WebSocket. Absent: it is answered like any other. */
  accept?(socket: WebSocket, request: FastifyRequest): void;
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

/** JSON that is text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
