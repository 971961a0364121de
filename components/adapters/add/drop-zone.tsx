"use client";
import { FileUp } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";

type Props = { file: File | null; mostBytes: number; disabled: boolean; onFile(file: File): void };

/** Takes one file, dropped onto it or chosen with the button. */
export function DropZone({ file, mostBytes, disabled, onFile }: Props) {
  const picker = useRef<HTMLInputElement>(null);
  /** Counts nested enter and leave events: leaving a child is not leaving the zone. */
  const depth = useRef(0);
  const [isDraggedOver, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files") && !disabled;

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an extra; the button inside works for everyone
    <div
      data-testid="drop-zone"
      className={cn(
        "flex flex-col items-center gap-3 rounded-lg border-2 border-dashed border-line-strong/60 bg-sunken px-4 py-8 text-center transition-colors",
        isDraggedOver && "border-focus bg-busy-soft",
        disabled && "opacity-60",
      )}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth.current++;
        setOver(true);
      }}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
      }}
      onDragLeave={() => {
        depth.current = Math.max(0, depth.current - 1);
        if (depth.current === 0) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        const [dropped] = event.dataTransfer.files;
        if (dropped && !disabled) onFile(dropped);
      }}
    >
      <FileUp aria-hidden className="size-6 text-muted" />
      {file ? (
        <p className="max-w-full text-sm">
          <span className="font-medium [overflow-wrap:anywhere]">{file.name}</span>{" "}
          <span className="whitespace-nowrap text-muted tabular-nums">{formatBytes(file.size)}</span>
        </p>
      ) : (
        <p className="text-sm text-muted">
          Drop a <code>.safetensors</code> file here, up to {formatBytes(mostBytes)}
        </p>
      )}
      <input
        ref={picker}
        type="file"
        accept=".safetensors"
        className="sr-only"
        tabIndex={-1}
        aria-label="Weights file"
        disabled={disabled}
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) onFile(chosen);
          target.value = ""; // the same file may be chosen again
        }}
      />
      <Button disabled={disabled} onClick={() => picker.current?.click()}>
        {file ? "Replace file" : "Choose file"}
      </Button>
    </div>
  );
}
