import type { Tool, ToolContext } from '../core/runtime.ts';
import type { AuthCredential } from './auth/auth-config.ts';
import { CredentialSource } from './auth/credential-source.ts';
import type { CredentialStore } from './auth/credential-store.ts';
import { functionTool, type FunctionToolSpec } from './function-tool.ts';

export interface AuthenticatedToolSpec<Args> extends Omit<FunctionToolSpec<Args>, 'run'> {
  /** An ADK AuthConfig: `{ authScheme, rawAuthCredential?, credentialKey? }`. */
  readonly auth: unknown;
  /** Where granted credentials are kept; default: in memory, for this tool. */
  readonly store?: CredentialStore;
  readonly run: (args: Args, ctx: ToolContext, credential: AuthCredential) => unknown;
}

/** What a tool answers while the user has not granted its credential yet. */
export const pendingCredential = {
  pending: true,
  message: 'The user has been asked to grant access. The call goes on once they have.',
};

/** A function tool that runs only with a credential, and gets it. The user is asked when nobody else can give it. */
export function authenticatedTool<Args>({ auth, store, run, ...spec }: AuthenticatedToolSpec<Args>): Tool {
  const source = new CredentialSource(auth, store);
  return functionTool<Args>({
    ...spec,
    run: async (args, ctx) => {
      const credential = await source.get(ctx);
      return credential ? run(args, ctx, credential) : pendingCredential;
    },
  });
}
