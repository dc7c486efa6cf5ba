import { Camera as CameraIcon, CameraOff, Hand, Mic, MicOff, PhoneOff, X } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Workspace } from '../../app/workspace.ts';
import { shownDuration } from '../../parts/numbers.ts';
import { useDevices } from './devices.ts';
import {
  chooseMicrophone,
  type LiveStatus,
  sayLive,
  setHeld,
  setMuted,
  setPushToTalk,
  stopLive,
  toggleCamera,
  useLive,
} from './live-call.ts';
import './live.css';

const words: Readonly<Record<LiveStatus, string>> = {
  off: 'Off',
  starting: 'Connecting …',
  on: 'Live',
  reconnecting: 'Reconnecting …',
};

/** The live conversation: status, levels, transcripts and controls. */
export function LiveStrip({ workspace }: { readonly workspace: Workspace }) {
  const live = useLive();
  const isHere = live.workspace === workspace;
  useEffect(() => () => (useLive.getState().workspace === workspace ? stopLive() : undefined), [workspace]);
  if (!isHere || (live.status === 'off' && live.fault === undefined)) return null;
  if (live.status === 'off') {
    return (
      <div className="live notice error" role="alert">
        <div className="row live-fault">
          <p className="error-text grow">{live.fault}</p>
          <button
            type="button"
            className="icon-button"
            aria-label="Dismiss"
            onClick={() => useLive.setState({ fault: undefined })}
          >
            <X size={14} aria-hidden />
          </button>
        </div>
      </div>
    );
  }
  return (
    <section className="live" aria-label="Live conversation">
      <Controls />
      {[live.fault, live.mediaFault].map(
        (fault) =>
          fault !== undefined && (
            <p key={fault} className="error-text meta" role="alert">
              {fault}
            </p>
          ),
      )}
      {(live.heard !== '' || live.said !== '') && (
        <p className="live-captions" dir="auto">
          {live.heard !== '' && <span className="live-heard">{live.heard}</span>}
          {live.said !== '' && <span>{live.said}</span>}
        </p>
      )}
      <div className="row">
        <WrittenWord status={live.status} />
        {live.camera && <Picture stream={live.camera} />}
      </div>
    </section>
  );
}

function Controls() {
  const live = useLive();
  const devices = useDevices(live.hasMicrophone);
  const microphones = devices.filter(({ kind }) => kind === 'audioinput');
  const cameras = devices.filter(({ kind }) => kind === 'videoinput');
  return (
    <div className="row live-bar">
      <span className={`live-status ${live.status}`}>{words[live.status]}</span>
      <meter aria-label="Microphone level" className="live-level" min={0} max={0.3} value={live.level} />
      <select
        className="input live-devices"
        aria-label="Microphone"
        disabled={!live.hasMicrophone && microphones.length === 0}
        onChange={(event) => void chooseMicrophone(event.target.value)}
      >
        {microphones.length === 0 && <option value="">No microphone</option>}
        {microphones.map(({ deviceId, label }) => (
          <option key={deviceId} value={deviceId}>
            {label || 'Microphone'}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="icon-button"
        aria-label={live.isMuted ? 'Unmute' : 'Mute'}
        title={live.isMuted ? 'Unmute' : 'Mute'}
        aria-pressed={live.isMuted}
        onClick={() => setMuted(!live.isMuted)}
      >
        {live.isMuted ? <MicOff size={16} aria-hidden /> : <Mic size={16} aria-hidden />}
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Push to talk"
        title="Push to talk"
        aria-pressed={live.pushToTalk}
        onClick={() => setPushToTalk(!live.pushToTalk)}
      >
        <Hand size={16} aria-hidden />
      </button>
      {live.pushToTalk && <HoldButton isHeld={live.isHeld} />}
      <button
        type="button"
        className="icon-button"
        aria-label={live.camera ? 'Turn off camera' : 'Turn on camera'}
        title={live.camera ? 'Turn off camera' : 'Turn on camera'}
        aria-pressed={live.camera !== undefined}
        onClick={() => void toggleCamera()}
      >
        {live.camera ? <CameraOff size={16} aria-hidden /> : <CameraIcon size={16} aria-hidden />}
      </button>
      {live.camera && cameras.length > 1 && (
        <select
          className="input live-devices"
          aria-label="Camera"
          onChange={(event) => void toggleCamera(event.target.value)}
        >
          {cameras.map(({ deviceId, label }) => (
            <option key={deviceId} value={deviceId}>
              {label || 'Camera'}
            </option>
          ))}
        </select>
      )}
      <span className="grow" />
      <span className="meta">
        {live.isPlaying && 'speaking'}
        {live.wasInterrupted && !live.isPlaying && 'interrupted'}
        {live.latencyMs !== undefined && ` · response after ${shownDuration(live.latencyMs)}`}
      </span>
      <button type="button" className="button small danger" onClick={stopLive}>
        <PhoneOff size={14} aria-hidden /> End
      </button>
    </div>
  );
}

/** A button that is active while it is held, by mouse, finger or key. */
function HoldButton({ isHeld }: { readonly isHeld: boolean }) {
  return (
    <button
      type="button"
      className="button small"
      aria-pressed={isHeld}
      onPointerDown={() => setHeld(true)}
      onPointerUp={() => setHeld(false)}
      onPointerLeave={() => setHeld(false)}
      onKeyDown={(event) => (event.key === ' ' || event.key === 'Enter') && setHeld(true)}
      onKeyUp={() => setHeld(false)}
      onBlur={() => setHeld(false)}
    >
      {isHeld ? 'Listening …' : 'Hold to talk'}
    </button>
  );
}

/** Why a message cannot be sent. */
const whyNot: Partial<Record<LiveStatus, string>> = {
  starting: 'You can send when the connection is open.',
  reconnecting: 'You can send when the connection is back.',
};

/** A written message. While there is no connection it can be typed, so that the focus stays, but not sent. */
function WrittenWord({ status }: { readonly status: LiveStatus }) {
  const [text, setText] = useState('');
  const hint = whyNot[status];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '' && sayLive(text)) setText('');
  };
  return (
    <form className="grow" onSubmit={submit}>
      <input
        className="input"
        aria-label="Type a message"
        aria-describedby={hint && 'live-hint'}
        placeholder="Type a message"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {hint !== undefined && (
        <p id="live-hint" className="meta">
          {hint}
        </p>
      )}
    </form>
  );
}

function Picture({ stream }: { readonly stream: MediaStream }) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current) element.current.srcObject = stream;
  }, [stream]);
  return <video ref={element} className="live-picture" autoPlay muted playsInline aria-label="Camera preview" />;
}
