import type { JsonObject } from '../base/json.ts';

// The part of A2A 1.0 JSON that is used here. The SDK writes and reads it, and converts messages of 0.3 peers to it.

export interface A2aPart {
  readonly text?: string;
  /** Base64. */
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: JsonObject;
}

export interface A2aMessage {
  readonly messageId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts?: readonly A2aPart[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: JsonObject;
}

export interface A2aArtifact {
  readonly artifactId?: string;
  readonly parts?: readonly A2aPart[];
  readonly metadata?: JsonObject;
}

export interface A2aStatus {
  /** `TASK_STATE_…`. */
  readonly state?: string;
  readonly message?: A2aMessage;
}

export interface A2aTask {
  readonly id?: string;
  readonly contextId?: string;
  readonly status?: A2aStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly metadata?: JsonObject;
}

/** One update from a peer: exactly one of the four members. */
export interface A2aUpdate {
  readonly message?: A2aMessage;
  readonly task?: A2aTask;
  readonly statusUpdate?: {
    readonly taskId?: string;
    readonly contextId?: string;
    readonly status?: A2aStatus;
    readonly metadata?: JsonObject;
  };
  readonly artifactUpdate?: {
    readonly taskId?: string;
    readonly contextId?: string;
    readonly artifact?: A2aArtifact;
    readonly append?: boolean;
    readonly lastChunk?: boolean;
    readonly metadata?: JsonObject;
  };
}

/** The members of an agent card that this client uses. */
export interface A2aCard {
  readonly name?: string;
  readonly description?: string;
  readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[];
  readonly capabilities?: { readonly streaming?: boolean };
}
