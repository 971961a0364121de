/** Signs this browser out and opens the sign-in page, which shows the reason. */
export async function leave(reason: "out" | "everywhere"): Promise<void> {
  const { signOut } = await import("next-auth/react"); // 9 KB that no other click needs
  await signOut({ redirect: false });
  window.location.assign(`/sign-in?reason=${reason}`); // a full page load, so no data stays in memory
}
