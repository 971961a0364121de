"use client";
import type { ComponentProps } from "react";
import { PlainPage } from "@/components/shell/plain-page";
import RoomError from "./(panel)/projects/[projectId]/error";

/** Replaces any page outside a project that could not be rendered, together with the page's frame. */
export default function PageError(props: ComponentProps<typeof RoomError>) {
  return (
    <PlainPage>
      <RoomError {...props} />
    </PlainPage>
  );
}
