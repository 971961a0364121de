"use client";
import { useTheme } from "next-themes";
import { Toaster as Sonner } from "sonner";

/** Where short messages appear; announced politely. */
export function Toaster() {
  const { resolvedTheme } = useTheme();
  return (
    <Sonner
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
