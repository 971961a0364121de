"use client";
import { type ReactNode, useState } from "react";
import { onDemand } from "./on-demand";

const Frame = onDemand(async () => (await import("./tooltip-frame")).TooltipFrame);

/** A short explanation on hover and on focus; the child, a button, has it in its own words for screen readers. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  const [isNear, setNear] = useState(false);
  const come = () => setNear(true);
  const go = () => setNear(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to what its button does
    <span
      className="relative inline-flex"
      onPointerEnter={come}
      onPointerLeave={go}
      onFocus={come}
      onBlur={go}
      onKeyDown={({ key }) => key === "Escape" && go()}
    >
      {children}
      {isNear && <Frame>{text}</Frame>}
    </span>
  );
}
