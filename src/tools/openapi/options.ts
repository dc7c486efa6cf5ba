import type { JsonObject } from '../../base/json.ts';
import type { MaybePromise, ToolContext } from '../../core/runtime.ts';
import type { AccessLimits } from '../access-limits.ts';
import type { ToolFilter } from '../filtered-toolset.ts';
import type { OpenApiAuth } from './security.ts';

export interface OpenApiToolsetOptions extends Partial<OpenApiAuth>, AccessLimits {
  /** An OpenAPI 3 document, as an object or as JSON or YAML text. */
  readonly spec: string | JsonObject;
  /** URL of the service, if it is not the first server of the document. */
  readonly server?: string;
  /**
   * The URL of the document, for relative server URLs and references. The document then counts as written by that server
   * and not by the author: other hosts in it have to be on the public internet.
   */
  readonly baseUrl?: string;
  /** Whether to fetch other documents that it refers to. Default false. */
  readonly allowExternalRefs?: boolean;
  readonly filter?: ToolFilter;
  readonly prefix?: string;
  /** Whether arguments keep the document's spelling where it is a valid name; default: snake_case. */
  readonly keepNames?: boolean;
  /** Headers of every request. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | ((ctx: ToolContext) => MaybePromise<Readonly<Record<string, string>>>);
  /** Milliseconds for one request; default 30,000. */
  readonly timeoutMs?: number;
}
