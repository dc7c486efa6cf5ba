/** Function calls that the runtime makes to ask the user, and whose answers it reads itself. */
export const requestNames = {
  confirmation: 'adk_request_confirmation',
  credential: 'adk_request_credential',
  input: 'adk_request_input',
} as const;

/** Whether a call is between runtime and user only. Models may call for input themselves (as role `model`): that is a tool. */
export const isInternalCall = (name: string, role: string): boolean =>
  name === requestNames.confirmation ||
  name === requestNames.credential ||
  (name === requestNames.input && role !== 'model');

/** Whether a response can only be for the runtime. Answers to input requests show by their call. */
export const isInternalResponse = (name: string): boolean =>
  name === requestNames.confirmation || name === requestNames.credential;
