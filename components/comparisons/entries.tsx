"use client";
import { type SyntheticEvent, useCallback, useMemo, useState } from "react";
import { artifactHref } from "@/components/jobs/artifact-gallery";
import { cn } from "@/components/ui/class-names";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { Comparison } from "@/server/contract/comparisons";
import { EntryCard } from "./entry-card";
import { nameOf } from "./judgement";
import { type Layer, Overlay } from "./overlay";
import { comparableText, mostItems, pictureOf } from "./shown";
import { TextDifferences } from "./text-differences";
import { type View, WHOLE } from "./zoom";
import { ZoomBar } from "./zoom-bar";

const COLUMNS: Record<number, string> = { 3: "md:grid-cols-2 xl:grid-cols-3" };

/** The entries side by side. Images zoom and pan together and can be overlaid; texts can be diffed. */
export function Entries({ comparison }: { comparison: Comparison }) {
  const { entries } = comparison;
  const [place, setPlace] = useState(0);
  const [view, setView] = useState<View>(WHOLE);
  const shared = useMemo(() => ({ view, look: setView }), [view]);
  const most = mostItems(entries);
  const layers = entries.flatMap((entry, at): Layer[] => {
    const picture = pictureOf(entry, place);
    if (!picture) return [];
    return [{ id: entry.entryId, name: nameOf(at), href: artifactHref(entry.jobId, picture.artifactId) }];
  });
  const texts = entries.flatMap((entry, at) => {
    const text = layers.length === 0 && most === 0 ? comparableText(entry) : null;
    return text === null ? [] : [{ id: entry.entryId, name: nameOf(at), text }];
  });
  const other = layers.length > 1 ? "overlay" : texts.length > 1 ? "differences" : null;

  /** Only one audio or video plays at a time. */
  const playAlone = useCallback((event: SyntheticEvent<HTMLElement>) => {
    for (const each of event.currentTarget.querySelectorAll<HTMLMediaElement>("audio, video"))
      if (each !== event.target) each.pause();
  }, []);

  return (
    <Tabs defaultValue="beside">
      <section aria-label="Entries" onPlayCapture={playAlone}>
        <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2 empty:hidden">
          {other && (
            <TabsList aria-label="View">
              <TabsTrigger value="beside">Side by side</TabsTrigger>
              <TabsTrigger value={other}>{other === "overlay" ? "Overlay" : "Differences"}</TabsTrigger>
            </TabsList>
          )}
          {most > 1 && (
            <Select value={String(place)} onValueChange={(value) => setPlace(Number(value))}>
              <SelectTrigger aria-label="Variant" className="h-8 w-40 text-sm" />
              <SelectContent>
                {Array.from({ length: most }, (_, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: places have no other name
                  <SelectItem key={at} value={String(at)}>
                    Variant {at + 1} of {most}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          )}
          {layers.length > 0 && <ZoomBar {...shared} />}
          {layers.length > 0 && (
            <p className="basis-full text-xs text-muted xl:ml-auto xl:basis-auto">
              Images zoom and pan together: drag, pinch, or click one and use the wheel, +, − and the arrow
              keys.
            </p>
          )}
        </div>
        <TabsContent value="beside">
          <div className={cn("grid items-start gap-4", COLUMNS[entries.length] ?? "md:grid-cols-2")}>
            {entries.map((entry, at) => (
              <EntryCard
                key={entry.entryId}
                comparison={comparison}
                entry={entry}
                name={nameOf(at)}
                place={place}
                shared={shared}
              />
            ))}
          </div>
        </TabsContent>
        {other && (
          <TabsContent value={other}>
            {other === "overlay" ? (
              <Overlay layers={layers} shared={shared} />
            ) : (
              <TextDifferences texts={texts} />
            )}
          </TabsContent>
        )}
      </section>
    </Tabs>
  );
}
