import { useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { saveArtifact } from '../../api/artifacts.ts';
import { messageOf } from '../../api/server.ts';
import { announce } from '../../app/announce.tsx';
import { setQuery, useLocation } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import { shownBytes, shownTime } from '../../parts/numbers.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { ArtifactDetails } from './artifact-details.tsx';
import { partOf } from './media.ts';
import { artifactsKey, useArtifacts } from './use-artifacts.ts';
import './artifacts.css';

interface ArtifactsPanelProps {
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

/** The files of the session and its user. */
export function ArtifactsPanel({ workspace, event }: ArtifactsPanelProps) {
  const artifacts = useArtifacts(workspace);
  const { query } = useLocation();
  const queries = useQueryClient();
  const files = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const chosen = query.get('a') ?? Object.keys(event?.actions.artifactDelta ?? {})[0];
  const upload = async (list: Iterable<File>): Promise<void> => {
    for (const file of list) {
      try {
        const { version } = await saveArtifact(workspace.key, file.name, await partOf(file));
        announce(`Saved ${file.name}, version ${version}`);
        setQuery({ a: file.name, v: undefined }, { replace: true });
      } catch (error) {
        toast(`${file.name}: ${messageOf(error)}`, { tone: 'error' });
      }
    }
    await queries.invalidateQueries({ queryKey: artifactsKey(workspace.key) });
  };
  const onDrop = (drop: DragEvent): void => {
    drop.preventDefault();
    setOver(false);
    void upload(drop.dataTransfer.files);
  };
  const shown = artifacts.data?.find(({ name }) => name === chosen);
  const asked = Number(query.get('v') ?? (query.has('a') ? Number.NaN : event?.actions.artifactDelta[chosen ?? '']));
  const version = shown?.versions.find((one) => one.version === asked)?.version ?? shown?.versions.at(-1)?.version;
  return (
    <div
      className="stack artifacts"
      data-over={isOver}
      onDragOver={(drag) => {
        drag.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <div className="row">
        <h2 className="grow">Artifacts</h2>
        <input
          ref={files}
          type="file"
          multiple
          hidden
          onChange={(change) => {
            void upload(change.target.files ?? []);
            change.target.value = '';
          }}
        />
        <button type="button" className="button small" onClick={() => files.current?.click()}>
          <Upload size={14} aria-hidden /> Upload
        </button>
      </div>
      {artifacts.isPending && <Loading label="Loading artifacts" />}
      {artifacts.isError && <Failure error={artifacts.error} onRetry={() => void artifacts.refetch()} />}
      {artifacts.data?.length === 0 && (
        <Empty title="No artifacts">Files that agents and tools save appear here. Drop files here to add some.</Empty>
      )}
      {artifacts.data && artifacts.data.length > 0 && (
        <ul className="artifact-list">
          {artifacts.data.map(({ name, scope, size, updateTime, versions }) => (
            <li key={name}>
              <button
                type="button"
                className="artifact-item row"
                aria-pressed={name === chosen}
                onClick={() => setQuery({ a: name, v: undefined }, { replace: true })}
              >
                <span className="truncate grow">{name}</span>
                {scope === 'user' && <span className="badge">user</span>}
                {versions.length > 1 && <span className="badge">{versions.length} versions</span>}
                <span className="meta">
                  {size !== undefined && `${shownBytes(size)} · `}
                  {shownTime(updateTime)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {shown && version !== undefined && (
        <ArtifactDetails key={shown.name} workspace={workspace} artifact={shown} version={version} />
      )}
    </div>
  );
}
