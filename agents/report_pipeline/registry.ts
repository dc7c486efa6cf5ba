import { type BeforeModelCallback, functionTool } from 'agent-server';

// The tools and callbacks that the YAML files of this app may name.

/** Returns the findings of the researchers and the comment of the reviewer. */
export const read_findings = functionTool({
  name: 'read_findings',
  description: 'Returns the findings of the researchers and the comment of the reviewer.',
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

/** Skips the model call when the report is complete: ends the loop at once. */
export const accept_finished_report: BeforeModelCallback = ({ context: { state } }) => {
  if (!/^In short/m.test(state.get<string>('report', ''))) return undefined;
  return { content: { role: 'model', parts: [{ functionCall: { name: 'exit_loop', args: {} } }] } };
};
