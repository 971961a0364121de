"use client";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";

const RETRY_MS = 3000;

type Source<Code> = { code?: Code; fetch(): Promise<unknown> };

/** The code once it is there. While the server cannot be reached it is asked for again. */
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
 * Code that is loaded when a component of it is first shown, or ahead by `prepare`. `part` makes such a component, in whose
 * place its `fallback` is shown until then. The parts of one code come together, as the focus of a dialog needs.
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
