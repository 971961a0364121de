"use client";
import type { ComponentProps } from "react";
import { PlainPage } from "@/components/shell/plain-page";
import RoomError from "./(panel)/projects/[projectId]/error";

/** A page outside the panel's frame that could not be rendered. */
export default function PageError(props: ComponentProps<typeof RoomError>) {
  return (
    <PlainPage>
      <RoomError {...props} />
    </PlainPage>
  );
}
