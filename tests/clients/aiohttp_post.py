"""Python's aiohttp: percent|quoted URL VALUES FILE; prints the answer.

`percent` is its default: file names percent-encoded as a whole. That way it cannot send a field's name beyond ASCII
(it asserts), so such a field is left out. `quoted` writes names as they are, with backslashes before quotes."""
import asyncio
import json
import sys

import aiohttp


async def post(mode, url, values, file):
    form = aiohttp.FormData(quote_fields=mode == "percent")
    with open(values, encoding="utf-8") as pairs, open(file, "rb") as document:
        for name, value in json.load(pairs):
            if mode == "quoted" or name.isascii():
                form.add_field(name, value)
        form.add_field("file", document)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
            async with session.post(url, data=form) as answer:
                print(await answer.text())


asyncio.run(post(*sys.argv[1:]))
