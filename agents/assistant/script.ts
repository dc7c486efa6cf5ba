import type { ScriptRule } from 'agent-server';

/** The answers of the assistant without an API key for its model: the first rule that matches applies. */
export const script: ScriptRule[] = [
  {
    match: String.raw`time.* in ([^?.!,]+?),? and .*\b(?:roll|dice|die)\b`,
    calls: [
      { name: 'get_time', args: { city: '$1' } },
      { name: 'roll_dice', args: { count: 1, sides: 6 } },
    ],
  },
  { match: String.raw`time.* in ([^?.!]+)`, calls: [{ name: 'get_time', args: { city: '$1' } }] },
  { match: String.raw`(\d+) ?d ?(\d+)`, calls: [{ name: 'roll_dice', args: { count: '$1', sides: '$2' } }] },
  { match: String.raw`\b(?:roll|dice|die)\b`, calls: [{ name: 'roll_dice', args: { count: 1, sides: 6 } }] },
  { match: String.raw`(?:save|file|export).*notes`, calls: [{ name: 'save_notes' }] },
  { match: String.raw`what do you (?:remember|know)|(?:my|the) notes`, calls: [{ name: 'recall' }] },
  { match: String.raw`(?:remember|note)(?: that|:)? (.+)`, calls: [{ name: 'remember', args: { note: '$1' } }] },
  { after: ['get_time', 'roll_dice'], text: '${get_time.text} And you rolled ${roll_dice.text}.' },
  { after: 'get_time', text: '${get_time.text}' },
  { after: 'roll_dice', text: 'You rolled ${roll_dice.text}.' },
  { after: 'remember', text: 'I will remember: "${remember.noted}". That is note ${remember.count}.' },
  { after: 'recall', text: 'This is what I keep for you:\n\n${recall.text}' },
  {
    after: 'save_notes',
    text: 'Saved as ${save_notes.file}, version ${save_notes.version}: you find it among the artifacts of this session.',
  },
  {
    match: String.raw`^\W*(?:hi|hello|hey|good (?:morning|evening))\b`,
    chunks: ['Hello! ', 'I tell the time, ', 'roll dice, ', 'and keep notes. ', 'Try "What time is it in Tokyo?"'],
    delayMs: 60,
  },
  {
    thought: 'There is no key for a model, so I can only follow my script.',
    text: 'I follow a small script until a GOOGLE_API_KEY is set. Try: "What time is it in Tokyo, and roll a die", "Roll 2d6", "Remember that I like tea", "What do you remember?" or "Save my notes".',
  },
];
