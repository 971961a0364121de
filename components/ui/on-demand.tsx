"use client";
import { Slot } from "radix-ui";
import { type ComponentType, type ReactElement, type ReactNode, useEffect, useState } from "react";

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

type Opening = { open?: boolean; onOpenChange?: (isOpen: boolean) => void };

/** Whether something is open, as its owner says or by itself, and whether it ever was. */
export function useOpening({ open, onOpenChange }: Opening) {
  const [isOwnOpen, setOwnOpen] = useState(false);
  const isOpen = open ?? isOwnOpen;
  const [wasOpened, setWasOpened] = useState(isOpen);
  if (isOpen && !wasOpened) setWasOpened(true);
  function show(next: boolean) {
    setOwnOpen(next);
    onOpenChange?.(next);
  }
  return { isOpen, wasOpened, show };
}

/** Makes its only child, a button, open a dialog whose code is loaded once the button is pointed at or focused. */
export function Opener({
  isOpen,
  prepare,
  onOpen,
  children,
}: {
  isOpen: boolean;
  prepare(): void;
  onOpen(): void;
  children: ReactElement;
}) {
  return (
    <Slot.Root
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      onClick={onOpen}
      onPointerEnter={prepare}
      onFocus={prepare}
    >
      {children}
    </Slot.Root>
  );
}
