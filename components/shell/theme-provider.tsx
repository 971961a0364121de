"use client";
import { ThemeProvider as Themes } from "next-themes";
import type { ReactNode } from "react";

/** Light or dark, by the system unless the reader chose; set before the first paint. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <Themes attribute="class" defaultTheme="system" enableSystem disableTransitionOnChange>
      {children}
    </Themes>
  );
}
