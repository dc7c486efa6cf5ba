import { File } from 'lucide-react';
import { setQuery } from '../../app/location.ts';
import { changeSettings } from '../../app/settings.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Row } from '../../log/rows.ts';
import { kindOf, useObjectUrl } from './media.ts';
import { savedIn } from './saved-in.ts';
import { useArtifact, useArtifacts } from './use-artifacts.ts';
import './artifacts.css';

/** The files an event saved, at the event. */
export function Thumbnails({ workspace, row }: { readonly workspace: Workspace; readonly row: Row | undefined }) {
  const saved = row ? savedIn(row) : [];
  return (
    <ul className="thumbnails" aria-label="Artifacts saved here">
      {saved.map(({ name, version, eventId }) => (
        <li key={`${name} ${version}`}>
          <Thumbnail workspace={workspace} name={name} version={version} eventId={eventId} />
        </li>
      ))}
    </ul>
  );
}

interface ThumbnailProps {
  readonly workspace: Workspace;
  readonly name: string;
  readonly version: number;
  readonly eventId: string;
}

/** Larger images get no thumbnail. */
const mostBytes = 4_000_000;

function Thumbnail({ workspace, name, version, eventId }: ThumbnailProps) {
  const index = useArtifacts(workspace);
  const known = index.data?.find((one) => one.name === name)?.versions.find((one) => one.version === version);
  const mimeType = known?.mimeType ?? '';
  const isImage = kindOf(mimeType) === 'image' && (known?.size ?? 0) <= mostBytes;
  const content = useArtifact(workspace, name, version, isImage);
  const url = useObjectUrl(content.data?.bytes, mimeType);
  const open = (): void => {
    changeSettings({ rightOpen: true });
    setQuery({ e: eventId, t: 'artifacts', a: name, v: String(version) });
  };
  return (
    <button
      type="button"
      className="thumbnail"
      title={`${name}, version ${version}`}
      onClick={(event) => {
        event.stopPropagation();
        open();
      }}
    >
      {url === undefined ? <File size={16} aria-hidden /> : <img src={url} alt="" loading="lazy" />}
      <span className="truncate">{name}</span>
      <span className="meta">v{version}</span>
    </button>
  );
}
