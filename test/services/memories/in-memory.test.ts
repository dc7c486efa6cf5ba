import { InMemoryMemories } from '../../../src/services/memories/in-memory.ts';
import { memoryServiceContract } from '../../contracts/memories.ts';

memoryServiceContract('InMemoryMemories', () => new InMemoryMemories());
