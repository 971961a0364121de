"use client";
import { useTheme } from "next-themes";
import { useEffect } from "react";
import { Toaster, toast } from "sonner";

/** Screen readers announce only text that enters a region they already know. */
const KNOWN_AFTER_MS = 100;

/** The code that `toaster` loads for the first message. */
export function ToasterFrame({ onReady }: { onReady(shown: typeof toast): void }) {
  const { resolvedTheme } = useTheme();
  useEffect(() => {
    const timer = setTimeout(() => onReady(toast), KNOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [onReady]);
  return (
    <Toaster
      theme={resolvedTheme === "dark" ? "dark" : "light"}
      position="bottom-right"
      duration={6000}
      toastOptions={{
        classNames: {
          toast: "!rounded-lg !border-line !bg-raised !text-text !shadow-raised !font-sans",
          description: "!text-muted",
        },
      }}
    />
  );
}
