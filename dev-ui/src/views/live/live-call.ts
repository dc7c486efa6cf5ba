import { create } from 'zustand';
import type { Event } from '../../../../src/schemas/event.ts';
import { isAbort, messageOf } from '../../api/server.ts';
import { announce } from '../../app/announce.tsx';
import type { Workspace } from '../../app/workspace.ts';
import { Camera } from './camera.ts';
import { LiveSocket } from './live-socket.ts';
import { type Chunk, mediaFault, Microphone } from './microphone.ts';
import { Speaker } from './speaker.ts';

export type LiveStatus = 'off' | 'starting' | 'on' | 'reconnecting';

interface LiveState {
  readonly status: LiveStatus;
  readonly workspace: Workspace | undefined;
  /** Why the conversation failed, in words. */
  readonly fault: string | undefined;
  /** Why there is no audio or video. */
  readonly mediaFault: string | undefined;
  readonly hasMicrophone: boolean;
  readonly camera: MediaStream | undefined;
  /** The audio level, from 0 to 1. */
  readonly level: number;
  /** Whether audio of the model is playing. */
  readonly isPlaying: boolean;
  readonly wasInterrupted: boolean;
  /** The current transcripts, before they are stored. */
  readonly heard: string;
  readonly said: string;
  /** From the end of the user's speech to the first audio of the response. */
  readonly latencyMs: number | undefined;
  readonly isMuted: boolean;
  readonly pushToTalk: boolean;
  readonly isHeld: boolean;
}

const off: LiveState = {
  status: 'off',
  workspace: undefined,
  fault: undefined,
  mediaFault: undefined,
  hasMicrophone: false,
  camera: undefined,
  level: 0,
  isPlaying: false,
  wasInterrupted: false,
  heard: '',
  said: '',
  latencyMs: undefined,
  isMuted: false,
  pushToTalk: false,
  isHeld: false,
};

/** The live conversation of this page: there is one microphone, so there is one conversation. */
export const useLive = create<LiveState>(() => off);
const set = (changes: Partial<LiveState>): void => useLive.setState(changes);

/** A louder level counts as speech. */
const speechLevel = 0.015;

let socket: LiveSocket | undefined;
let microphone: Microphone | undefined;
let speaker: Speaker | undefined;
let camera: Camera | undefined;
let lastSpokenAt: number | undefined;
/** Whether the model accepts audio and video, as far as known. */
let takesSound = true;

/** Starts a live conversation with the agents of a session. Failures are in `fault`. */
export async function startLive(workspace: Workspace): Promise<void> {
  if (useLive.getState().status !== 'off') return;
  set({ ...off, status: 'starting', workspace });
  takesSound = true;
  try {
    speaker = await Speaker.open(onPlaying);
  } catch (error) {
    set({ ...off, workspace, fault: `Audio cannot be played: ${messageOf(error)}` });
    return;
  }
  socket = new LiveSocket(workspace.key, {
    onOpen: () => {
      set({ status: 'on', fault: undefined });
      announce('Live conversation started');
    },
    onEvent,
    onFault: (fault) => set({ fault }),
    onRetry: (fault) => set({ status: 'reconnecting', fault }),
    onEnd: (fault) => void end(fault),
  });
  await chooseMicrophone();
}

export function stopLive(): void {
  if (socket) socket.close();
  else void end(undefined);
}

/** Switches to another microphone; without an id to the default one. */
export async function chooseMicrophone(deviceId?: string): Promise<void> {
  try {
    await microphone?.close();
    microphone = undefined;
    set({ hasMicrophone: false, level: 0 });
    const opened = await Microphone.open(deviceId, onChunk);
    if (socket) {
      microphone = opened;
      set({ hasMicrophone: true, mediaFault: undefined });
    } else await opened.close(); // the conversation ended while the browser asked for permission
  } catch (error) {
    set({ mediaFault: mediaFault(error, 'microphone') });
  }
}

export async function toggleCamera(deviceId?: string): Promise<void> {
  if (camera && deviceId === undefined) {
    camera.close();
    camera = undefined;
    set({ camera: undefined });
    return;
  }
  try {
    camera?.close();
    camera = await Camera.open(deviceId, (picture) => takesSound && socket?.sendPicture(picture));
    set({ camera: camera.stream, mediaFault: undefined });
  } catch (error) {
    set({ mediaFault: mediaFault(error, 'camera') });
  }
}

export const setMuted = (isMuted: boolean): void => set({ isMuted });
export const setPushToTalk = (pushToTalk: boolean): void => set({ pushToTalk, isHeld: false });
export const setHeld = (isHeld: boolean): void => set({ isHeld });

/** Sends a text message and shows it. Returns false, and does neither, while there is no connection. */
export function sayLive(text: string): boolean {
  if (!socket?.sendText(text)) return false;
  lastSpokenAt = performance.now();
  set({ latencyMs: undefined });
  // The server does not send it back; the stored one is read when the conversation is over.
  const id = `provisional-${crypto.randomUUID()}`;
  const content = { role: 'user', parts: [{ text }] };
  const actions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
  const event = { id, invocationId: id, author: 'user', timestamp: Date.now() / 1_000, content, actions };
  useLive.getState().workspace?.log.append([event]);
  return true;
}

function onChunk({ samples, level }: Chunk): void {
  const { isMuted, pushToTalk, isHeld, level: before } = useLive.getState();
  const isOpen = !isMuted && (!pushToTalk || isHeld);
  if (isOpen && level > speechLevel) lastSpokenAt = performance.now();
  // While the microphone is muted the model gets silence, because it waits for the end of the speech.
  if (takesSound) socket?.sendSound(isOpen ? samples : new Int16Array(samples.length));
  const shown = isOpen ? level : 0;
  if (Math.abs(shown - before) > 0.005) set({ level: shown });
}

function onPlaying(isPlaying: boolean): void {
  const { latencyMs } = useLive.getState();
  const measured = isPlaying && lastSpokenAt !== undefined ? performance.now() - lastSpokenAt : latencyMs;
  set({ isPlaying, latencyMs: measured, ...(isPlaying && { wasInterrupted: false }) });
}

function onEvent(event: Event): void {
  const { workspace, heard, said } = useLive.getState();
  for (const { inlineData } of event.content?.parts ?? []) {
    if (inlineData?.mimeType.startsWith('audio/pcm')) speaker?.play(inlineData.data, inlineData.mimeType);
  }
  if (event.interrupted) {
    speaker?.clear();
    set({ wasInterrupted: true, said: '' });
  }
  if (event.errorCode === 'not_supported') {
    takesSound = false;
    set({ mediaFault: event.errorMessage ?? 'The model accepts no audio or video: write instead' });
  }
  const { inputTranscription: input, outputTranscription: output } = event;
  if (event.partial) {
    if (input) set({ heard: heard + (input.text ?? '') });
    else if (output) set({ said: said + (output.text ?? '') });
    else if (hasText(event)) workspace?.log.append([event]);
    return;
  }
  if (input) set({ heard: '' });
  if (output || event.turnComplete) set({ said: '' });
  workspace?.log.append([event]);
}

/** Audio events are played, not shown. */
const hasText = ({ content }: Event): boolean => (content?.parts ?? []).some(({ text = '' }) => text !== '');

async function end(fault: string | undefined): Promise<void> {
  const { workspace } = useLive.getState();
  socket = undefined;
  lastSpokenAt = undefined;
  camera?.close();
  camera = undefined;
  const opened = [microphone, speaker];
  microphone = undefined;
  speaker = undefined;
  set({ ...off, workspace, fault });
  announce(fault === undefined ? 'Live conversation ended' : `Live conversation ended: ${fault}`);
  await Promise.all(opened.map((one) => one?.close()));
  workspace?.log.hush();
  try {
    await workspace?.reload();
  } catch (error) {
    if (!isAbort(error)) set({ fault: messageOf(error) });
  }
}
