import type { JsonObject } from '../../base/json.ts';
import type { MaybePromise, ToolContext } from '../../core/runtime.ts';
import type { ToolFilter } from '../filtered-toolset.ts';
import type { Reach } from '../reach.ts';
import type { OpenApiAuth } from './security.ts';

export interface OpenApiToolsetOptions extends Partial<OpenApiAuth>, Reach {
  /** An OpenAPI 3 document, as an object or as JSON or YAML text. */
  readonly spec: string | JsonObject;
  /** Address of the service, when it is not the first server of the document. */
  readonly server?: string;
  /**
   * Where the document came from: server addresses and references may be relative to it. The document is then that
   * server's word and not the author's: other hosts it names have to be on the public internet.
   */
  readonly baseUrl?: string;
  /** Whether other documents that it refers to are fetched. Default false. */
  readonly allowExternalRefs?: boolean;
  readonly filter?: ToolFilter;
  readonly prefix?: string;
  /** Arguments keep the document's spelling where it makes a name; default: snake_case. */
  readonly keepNames?: boolean;
  /** Headers of every request. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | ((ctx: ToolContext) => MaybePromise<Readonly<Record<string, string>>>);
  /** Milliseconds for one request; default 30,000. */
  readonly timeoutMs?: number;
}
