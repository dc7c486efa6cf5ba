import { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../services/memories/in-memory.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';

/** Stores that last as long as the test. */
export const inMemoryServices = (): {
  sessions: InMemorySessions;
  artifacts: InMemoryArtifacts;
  memories: InMemoryMemories;
} => ({ sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts(), memories: new InMemoryMemories() });
