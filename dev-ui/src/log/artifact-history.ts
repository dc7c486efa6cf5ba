import type { Event } from '../../../src/schemas/event.ts';
import { Follower, followerOf } from './follower.ts';

/** A version of an artifact, and the event that saved it. */
export interface SavedArtifact {
  readonly name: string;
  readonly version: number;
  readonly position: number;
}

class ArtifactHistory extends Follower {
  /** In the order they were saved. */
  readonly saved: SavedArtifact[] = [];

  protected override reset(): void {
    this.saved.length = 0;
  }

  protected override take({ actions }: Event, position: number): void {
    for (const [name, version] of Object.entries(actions.artifactDelta)) this.saved.push({ name, version, position });
  }
}

/** The artifacts that the events of a log saved. */
export const artifactHistoryOf = followerOf(() => new ArtifactHistory());
