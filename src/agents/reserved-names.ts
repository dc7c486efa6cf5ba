/** Function calls that the runtime makes to ask the user, and whose answers it reads itself. */
export const requestNames = {
  confirmation: 'adk_request_confirmation',
  credential: 'adk_request_credential',
  input: 'adk_request_input',
} as const;

/** Functions of the runtime's own that models call. */
export const transferToolName = 'transfer_to_agent';
export const answerToolName = 'set_model_response';
export const taskCompletedName = 'task_completed';

/** Names that no author's or server's tool may have: the runtime handles their calls itself. */
export const reservedNames: ReadonlySet<string> = new Set([
  ...Object.values(requestNames),
  transferToolName,
  answerToolName,
  taskCompletedName,
]);

/** Whether a call is between runtime and user only. Models may call for input themselves (as role `model`): that is a tool. */
export const isInternalCall = (name: string, role: string): boolean =>
  name === requestNames.confirmation ||
  name === requestNames.credential ||
  (name === requestNames.input && role !== 'model');

/** Whether a response can only be for the runtime. Answers to input requests show by their call. */
export const isInternalResponse = (name: string): boolean =>
  name === requestNames.confirmation || name === requestNames.credential;
