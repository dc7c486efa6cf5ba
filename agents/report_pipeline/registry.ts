import { type BeforeModelCallback, functionTool } from 'agent-server';

// What the YAML files of this app may name: tools and callbacks.

/** Gives the writer what was found, and what the reviewer asked for. */
export const read_findings = functionTool({
  name: 'read_findings',
  description: 'Gives what the researchers found and what the reviewer asked for.',
  run: (_, { state }) => {
    const comment = state.get<string>('comment');
    return {
      facts: state.get('facts', ''),
      risks: state.get('risks', ''),
      ideas: state.get('ideas', ''),
      comment: comment ?? 'none yet',
      summary: comment === undefined ? '' : 'In short: start small, and keep the risks in sight.',
    };
  },
});

/** Spares a model call when there is nothing left to ask for. */
export const accept_finished_report: BeforeModelCallback = ({ context: { state } }) => {
  if (!/^In short/m.test(state.get<string>('report', ''))) return undefined;
  return { content: { role: 'model', parts: [{ functionCall: { name: 'exit_loop', args: {} } }] } };
};
