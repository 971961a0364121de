/**
 * Subjects that people look for and no capability covers. They compete in the search, so that a near word ("text",
 * "image", "audio") is not mistaken for the subject. If one of them wins, the answer is that nothing matches and a
 * capability can be requested. A test refuses a phrase that is a name of a capability of the catalog.
 */
export const NEIGHBOURS: readonly { name: string; words: string }[] = [
  {
    name: "transcription",
    words:
      "transcribe, transcription, transcript, speech to text, speech recognition, dictation, recorded interview, recording into text, meeting notes from audio, diarization, who speaks, whisper, subtitles from audio, captions from a recording, audio to text, voice memo to text, podcast to text",
  },
  {
    name: "live facts",
    words:
      "live camera, live stream, camera stream, weather, forecast, temperature tomorrow, stock price, share price, exchange rate today, news, headlines today, sports results, traffic, flight status, current, today, live, real time, latest, right now, bitcoin, crypto, price right now, current price, latest news",
  },
  {
    name: "web access",
    words:
      "crawl, crawler, scraper, from a website, prices from a website, website and collect, crawl a website, scrape a website, scrape the, search the web, restaurants, browse the web, web search, google, open a page, visit a website, download a web page, click on",
  },
  {
    name: "databases and code",
    words:
      "sql, database query, run code, execute a script, python script, shell command, sandboxed code, run the tests, compile, spreadsheet macro",
  },
  {
    name: "training",
    words:
      "train, training, fine tune, finetune, fine tuning, dataset, classifier on my, own model, lora training, weights, gpu",
  },
  {
    name: "file conversion",
    words:
      "convert docx to pdf, docx, pptx, xlsx, convert a file, file conversion, export to word, merge pdfs, split pdf, zip, unzip, an archive, link, tiny url, qr code, zip archive, compress, csv to excel, mp4 to gif, wav to mp3, transcode",
  },
  {
    name: "audio editing",
    words:
      "separate vocals, vocals, the vocals, from a song, from a track, stems, remove noise from a recording, denoise audio, mix, master, mastering, trim audio, splice audio, karaoke version, clone my voice, clone a voice, clone the voice, clone, voice cloning, voice changer, pitch shift",
  },
  {
    name: "video editing",
    words:
      "cut video, cut two videos, videos together, splice, splice videos, trim a video, edit footage, join clips, concatenate videos, add subtitles to a video, video editor, stabilize footage, lip sync, deepfake, slow motion",
  },
  {
    name: "tours of plans",
    words:
      "floor plan into, floor plan turned, floor plan to, floorplan, from blueprints, blueprint into, walkthrough from, virtual tour, 3d tour",
  },
  {
    name: "video from files",
    words:
      "slides into, slides to, slides as a video, from my slides, slide deck, slideshow, powerpoint, my powerpoint, a powerpoint, powerpoint into, keynote, presentation into, presentation to video, article into, blog post into, blog post to video, podcast into, podcast to video, episode to video, episode into, audio into a video, talking head, avatar video, screen recording, screencast",
  },
  {
    name: "mesh editing",
    words:
      "rig, rigging, skeleton, retopology, unwrap uv, animate a character model, decimate a mesh, convert fbx, bake normals",
  },
  {
    name: "science",
    words:
      "protein, molecule, dna, sequence alignment, genome, chemistry simulation, physics simulation, finite elements, weather model, symbolic integration, solve a differential equation, plot a chart, statistics on my data",
  },
  {
    name: "places and routes",
    words:
      "route, directions, map, maps, navigation, geocode, geocoding, nearest shop, distance between cities, timetable, train times",
  },
  {
    name: "unsafe content",
    words: "toxic, nsfw, hate speech detection, content filter, abuse detection, unsafe images",
  },
  {
    name: "faces and people",
    words:
      "face recognition, who is this person, who is the person, person in this photo, person in this picture, identify a person, biometric, fingerprint, find a phone number, background check",
  },
  {
    name: "names on the net",
    words:
      "dns record, dns records, nameserver, ssl certificate, website hosting, host a site, deploy, mailbox, ip address, uptime",
  },
];
