import OpenAI from "openai";

const client = new OpenAI({ baseURL: `${process.env.CAPSTAN_URL}/v1`, apiKey: process.env.CAPSTAN_API_KEY });

const weather = ({ city }: { city: string }) => `It is 21 degrees in ${city}.`;
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "Use get_weather and tell me what to wear." },
];
for (;;) {
  const completion = await client.chat.completions.create({
    model: "text.general.fast.v1",
    messages,
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
      },
    ],
  });
  const { message } = completion.choices[0]!;
  messages.push(message);
  if (!message.tool_calls) break;
  for (const call of message.tool_calls)
    if (call.type === "function")
      messages.push({
        role: "tool",
        tool_call_id: call.id,
        content: weather(JSON.parse(call.function.arguments)),
      });
}
console.log(messages.at(-1)?.content);
