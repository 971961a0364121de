"use client";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";

const RETRY_MS = 3000;

type Source<Code> = { code?: Code; fetch(): Promise<unknown> };

/** The loaded code, or undefined until then. While the server cannot be reached, loading is retried. */
function useCode<Code>(source: Source<Code>): Code | undefined {
  const [isHere, setHere] = useState(source.code !== undefined);
  useEffect(() => {
    if (isHere) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const attempt = () =>
      source.fetch().then(
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
  }, [isHere, source]);
  return isHere ? source.code : undefined;
}

/**
 * Code that is loaded when one of its components is first shown, or earlier by `prepare`. `part` makes such a component,
 * which shows its `fallback` until then. All parts load together, because the focus of a dialog needs all of them.
 */
export function onDemand<Code>(load: () => Promise<Code>) {
  const source: Source<Code> = {
    async fetch() {
      source.code ??= await load();
    },
  };
  return {
    prepare: () => void source.fetch().catch(() => undefined),
    part:
      <Props extends object>(pick: (code: Code) => ComponentType<Props>) =>
      (props: Props & { fallback?: ReactNode }): ReactNode => {
        const code = useCode(source);
        if (code === undefined) return props.fallback ?? null;
        const Part = pick(code);
        return <Part {...props} />;
      },
  };
}
