/** A conversation of so many events, as the server takes it: questions, calls with results, long and short answers. */
export function history(count: number): object[] {
  const events: object[] = [];
  for (let turn = 0; events.length < count; turn += 1) {
    const invocationId = `e-${turn}`;
    const at = 1_790_000_000 + turn * 10;
    const add = (author: string, role: string, part: object, fields: object = {}): void => {
      const id = `event-${events.length}`;
      const timestamp = at + events.length / 1e4;
      events.push({ id, invocationId, author, timestamp, content: { role, parts: [part] }, ...fields });
    };
    const call = { id: `call-${turn}`, name: 'search_flights' };
    add('user', 'user', { text: `Question ${turn}: how do I get to Lisbon, and what does it cost?` });
    add('planner', 'model', { functionCall: { ...call, args: { from: 'BER', to: 'LIS', day: turn } } });
    add('planner', 'user', { functionResponse: { ...call, response: { flights: [{ price: turn }, { price: 7 }] } } });
    const answer = `Answer ${turn}.\n\n${turn % 3 === 0 ? '| flight | price |\n|---|---|\n| TP 535 | 120 |\n\n' : ''}Take the **morning** flight, \`TP ${turn}\`.`;
    add('planner', 'model', { text: answer }, { usageMetadata: { promptTokenCount: 900, candidatesTokenCount: 40 } });
  }
  return events.slice(0, count);
}
