import { useQueryClient } from '@tanstack/react-query';
import { Download, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import type { IndexedArtifact } from '../../../../src/schemas/extensions.ts';
import { deleteArtifact } from '../../api/artifacts.ts';
import { messageOf } from '../../api/server.ts';
import { setQuery } from '../../app/location.ts';
import { download } from '../../app/session-actions.ts';
import type { Workspace } from '../../app/workspace.ts';
import { late } from '../../parts/late.tsx';
import { shownBytes, shownTime } from '../../parts/numbers.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { Preview } from './preview.tsx';
import { artifactsKey, useArtifact } from './use-artifacts.ts';

const VersionDiff = late(async () => (await import('./version-diff.tsx')).VersionDiff, 'Comparing');

interface ArtifactDetailsProps {
  readonly workspace: Workspace;
  readonly artifact: IndexedArtifact;
  readonly version: number;
}

/** One artifact: a version, its changes since the previous one, and commands. */
export function ArtifactDetails({ workspace, artifact, version }: ArtifactDetailsProps) {
  const { name, versions } = artifact;
  const content = useArtifact(workspace, name, version);
  const [isDiff, setDiff] = useState(false);
  const queries = useQueryClient();
  const at = versions.findIndex((one) => one.version === version);
  const shown = versions[at];
  const before = versions[at - 1];
  const remove = async (): Promise<void> => {
    try {
      await deleteArtifact(workspace.key, name);
      setQuery({ a: undefined, v: undefined }, { replace: true });
      await queries.invalidateQueries({ queryKey: artifactsKey(workspace.key) });
      toast(`Deleted ${name}`);
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  return (
    <section className="stack artifact" aria-label={`Artifact ${name}`}>
      <div className="row">
        <h3 className="truncate grow" title={name}>
          {name}
        </h3>
        <button
          type="button"
          className="icon-button"
          aria-label="Download"
          title="Download"
          disabled={!content.data?.bytes}
          onClick={() => content.data?.bytes && download(fileName(name), content.data.bytes, content.data.mimeType)}
        >
          <Download size={16} aria-hidden />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={`Delete ${name}`}
          title="Delete all versions"
          onClick={() => void remove()}
        >
          <Trash2 size={16} aria-hidden />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Close the artifact"
          title="Close the artifact"
          onClick={() => setQuery({ a: undefined, v: undefined }, { replace: true })}
        >
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="row">
        <label className="row">
          <span className="meta">Version</span>
          <select
            className="input artifact-version"
            value={version}
            onChange={(event) => setQuery({ v: event.target.value }, { replace: true })}
          >
            {versions.toReversed().map((one) => (
              <option key={one.version} value={one.version}>
                {one.version} · {shownTime(one.createTime)}
              </option>
            ))}
          </select>
        </label>
        {before && (
          <button type="button" className="button small" aria-pressed={isDiff} onClick={() => setDiff(!isDiff)}>
            Changes
          </button>
        )}
        <span className="grow" />
        <span className="meta truncate">
          {shown?.mimeType} {shown?.size !== undefined && `· ${shownBytes(shown.size)}`}
        </span>
      </div>
      {content.isPending && <Loading label="Loading" />}
      {content.isError && <Failure error={content.error} onRetry={() => void content.refetch()} />}
      {isDiff && before ? (
        <VersionDiff workspace={workspace} name={name} from={before.version} to={version} />
      ) : (
        content.data && <Preview key={version} name={name} content={content.data} />
      )}
    </section>
  );
}

/** The last segment of a name, as a file name. */
const fileName = (name: string): string =>
  (name.split('/').at(-1) ?? name).replace(/^user:/, '').replaceAll(/[<>:"/\\|?*]/g, '_');
