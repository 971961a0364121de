"use client";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";

const RETRY_MS = 3000;

/**
 * A component whose code is loaded when it is first shown, or ahead by `prepare`. Until then `fallback` stands in its place.
 * While the server cannot be reached it tries again.
 */
export function onDemand<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | undefined;
  const fetchCode = async () => {
    Loaded ??= await load();
  };
  // biome-ignore lint/correctness/noComponentHookFactories: made once for a module, as with React.lazy
  function OnDemand(props: Props & { fallback?: ReactNode }) {
    const [isHere, setHere] = useState(Loaded !== undefined);
    useEffect(() => {
      if (isHere) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isGone = false;
      const attempt = () =>
        fetchCode().then(
          () => isGone || setHere(true),
          () => {
            if (!isGone) timer = setTimeout(attempt, RETRY_MS);
          },
        );
      void attempt();
      return () => {
        isGone = true;
        clearTimeout(timer);
      };
    }, [isHere]);
    const { fallback = null, ...rest } = props;
    // What is left of `props` without `fallback` are the props of the component, which TypeScript cannot see.
    return isHere && Loaded ? <Loaded {...(rest as unknown as Props)} /> : fallback;
  }
  return Object.assign(OnDemand, { prepare: () => void fetchCode().catch(() => undefined) });
}
