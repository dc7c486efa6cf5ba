import { useMemo, useState } from 'react';
import type { AgentGraph } from '../../../../src/schemas/extensions.ts';
import type { Activity } from './activity.ts';
import { GraphDrawing } from './drawing.tsx';
import { drawingOf } from './layout.ts';

interface LaidOutProps {
  readonly graph: AgentGraph;
  readonly activity: Activity;
  readonly isRunning: boolean;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

/** The drawing with its layout, which is computed once for each shape. A separate file, because the library is large. */
export function LaidOut({ graph, ...rest }: LaidOutProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const drawing = useMemo(() => drawingOf(graph, folded), [graph, folded]);
  const toggle = (id: string): void => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setFolded(next);
  };
  return <GraphDrawing drawing={drawing} {...rest} onFold={toggle} />;
}
