import { functionTool } from 'agent-server';
import { z } from 'zod';

const timeZones: Readonly<Record<string, string>> = {
  auckland: 'Pacific/Auckland',
  berlin: 'Europe/Berlin',
  cairo: 'Africa/Cairo',
  lima: 'America/Lima',
  london: 'Europe/London',
  mumbai: 'Asia/Kolkata',
  nairobi: 'Africa/Nairobi',
  'new york': 'America/New_York',
  paris: 'Europe/Paris',
  'san francisco': 'America/Los_Angeles',
  'são paulo': 'America/Sao_Paulo',
  sydney: 'Australia/Sydney',
  tokyo: 'Asia/Tokyo',
};

export const getTime = functionTool({
  name: 'get_time',
  description: 'Tells the local time and date of a city.',
  parameters: z.object({ city: z.string().min(1).describe('Name of the city, in English') }),
  run: ({ city }) => {
    const timeZone = timeZones[city.trim().toLowerCase()];
    if (timeZone === undefined) {
      return { text: `I do not know where ${city} is.`, known: Object.keys(timeZones) };
    }
    const now = new Date();
    const time = now.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
    const date = now.toLocaleDateString('en-GB', { timeZone, dateStyle: 'full' });
    return { city, time, date, text: `In ${city} it is ${time}, ${date}.` };
  },
});

export const rollDice = functionTool({
  name: 'roll_dice',
  description: 'Rolls dice and returns each result and the sum.',
  parameters: z.object({
    count: z.coerce.number().int().min(1).max(20).default(1).describe('How many dice'),
    sides: z.coerce.number().int().min(2).max(100).default(6).describe('Sides of each die'),
  }),
  run: ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
    const sum = rolls.reduce((total, roll) => total + roll, 0);
    return { rolls, sum, text: rolls.length > 1 ? `${rolls.join(' + ')} = ${sum}` : String(sum) };
  },
});

// Keys that start with "user:" are shared by all sessions of the same user.
const notesKey = 'user:notes';

export const remember = functionTool({
  name: 'remember',
  description: 'Saves a note for the user, across sessions.',
  parameters: z.object({ note: z.string().min(1) }),
  run: ({ note }, { state }) => {
    const notes = [...state.get<string[]>(notesKey, []), note];
    state.set(notesKey, notes);
    return { noted: note, count: notes.length };
  },
});

export const recall = functionTool({
  name: 'recall',
  description: 'Returns the saved notes of the user.',
  run: (_, { state }) => {
    const notes = state.get<string[]>(notesKey, []);
    return { notes, text: notes.length > 0 ? notes.map((note) => `- ${note}`).join('\n') : 'nothing yet' };
  },
});

export const saveNotes = functionTool({
  name: 'save_notes',
  description: 'Writes the saved notes of the user into a file (an artifact) called notes.md.',
  run: async (_, ctx) => {
    const notes = ctx.state.get<string[]>(notesKey, []);
    const text = ['# Notes', '', ...notes.map((note) => `- ${note}`), ''].join('\n');
    const data = Buffer.from(text).toString('base64');
    const version = await ctx.saveArtifact('notes.md', { inlineData: { mimeType: 'text/markdown', data } });
    return { file: 'notes.md', version, notes: notes.length };
  },
});
