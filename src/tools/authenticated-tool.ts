import type { JsonObject } from '../base/json.ts';
import type { Tool, ToolContext } from '../core/runtime.ts';
import type { AuthCredential } from './auth/auth-config.ts';
import { CredentialSource } from './auth/credential-source.ts';
import type { CredentialStore } from './auth/credential-store.ts';
import { functionTool, type FunctionToolSpec } from './function-tool.ts';
import type { ArgsChecked, ArgsGiven, SchemaSource } from './schema-types.ts';

export interface AuthenticatedToolSpec<Source extends SchemaSource = JsonObject> extends Omit<
  FunctionToolSpec<Source>,
  'run'
> {
  /** An ADK AuthConfig: `{ authScheme, rawAuthCredential?, credentialKey? }`. */
  readonly auth: unknown;
  /** The store for granted credentials; default: in memory, for this tool. */
  readonly store?: CredentialStore;
  run(args: ArgsChecked<Source>, ctx: ToolContext, credential: AuthCredential): unknown;
}

/** The response of a tool until the user grants its credential. */
export const pendingCredential = {
  pending: true,
  message: 'The user has been asked to grant access. The call goes on once they have.',
};

/** A function tool that gets a credential as its third argument. Requests it from the user when no other source has it. */
export function authenticatedTool<const Source extends SchemaSource = JsonObject>(
  spec: AuthenticatedToolSpec<Source>,
): Tool<ArgsGiven<Source>> {
  const { auth, store, ...rest } = spec;
  const source = new CredentialSource(auth, store);
  return functionTool<Source>({
    ...rest,
    run: async (args, ctx) => {
      const credential = await source.get(ctx);
      return credential ? spec.run(args, ctx, credential) : pendingCredential;
    },
  });
}
