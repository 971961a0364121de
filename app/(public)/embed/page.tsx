import type { Metadata } from "next";
import { EmbeddedPanel } from "@/components/embed/panel";

export const metadata: Metadata = { title: "Embed", robots: { index: false } };

/**
 * An embed, shown in a frame of a host page (docs/guides/embed-in-your-site.md). server/web/frames.ts decides which pages may
 * frame it.
 */
export default function EmbedPage() {
  return <EmbeddedPanel />;
}
