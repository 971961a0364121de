"use client";
import { useEffect, useEffectEvent, useState } from "react";

const GIVEN_UP_MS = 15_000;

/**
 * Leaves for a page of somebody else. `isLeaving` until that page is there, and no longer: where the back button brings this
 * page back as it was left, or the way there was stopped, it can be used again and `onReturn` is told.
 */
export function useLeave(onReturn?: () => void) {
  const [isLeaving, setLeaving] = useState(false);
  const stay = useEffectEvent(() => {
    setLeaving(false);
    onReturn?.();
  });
  useEffect(() => {
    if (!isLeaving) return;
    const back = () => stay();
    const timer = setTimeout(back, GIVEN_UP_MS);
    window.addEventListener("pageshow", back);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pageshow", back);
    };
  }, [isLeaving]);
  function leave(url: string) {
    setLeaving(true);
    window.location.assign(url);
  }
  return { isLeaving, leave };
}
