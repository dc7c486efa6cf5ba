import { type ComponentType, useEffect, useState } from 'react';
import { Loading } from './states.tsx';

/**
 * A component that is loaded when it is first rendered. Until then it shows `label` …, or nothing. Unlike React's `lazy` it
 * appears as soon as it is loaded: React delays the content that replaces a fallback by 300 ms.
 */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  label?: string,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Late(props: Props) {
    const [, setOutcome] = useState<{ readonly failure?: unknown }>({});
    useEffect(() => {
      if (loaded) return undefined;
      let hasLeft = false;
      load().then(
        (component) => {
          loaded = component;
          if (!hasLeft) setOutcome({});
        },
        (failure: unknown) => {
          // Thrown during rendering, where the error boundary catches it.
          const rethrow = (): never => {
            throw failure;
          };
          if (!hasLeft) setOutcome(rethrow);
        },
      );
      return () => {
        hasLeft = true;
      };
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    return label === undefined ? null : <Loading label={label} />;
  };
}
