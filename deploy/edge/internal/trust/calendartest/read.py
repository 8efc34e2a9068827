"""Reads a calendar by the icalendar library and prints its events as JSON. It fails on what the library complains of."""

import json
import sys

import icalendar

raw = sys.stdin.buffer.read()
calendar = icalendar.Calendar.from_ical(raw)
assert not calendar.errors, calendar.errors
events = []
for event in calendar.walk("VEVENT"):
    assert not event.errors, event.errors
    for name in ("UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "STATUS", "SEQUENCE", "LAST-MODIFIED", "CLASS", "TRANSP", "URL"):
        assert name in event, name
    events.append({
        "uid": str(event["UID"]), "sequence": int(event["SEQUENCE"]), "status": str(event["STATUS"]), "summary": str(event["SUMMARY"]),
        "description": str(event["DESCRIPTION"]), "stamp": event["DTSTAMP"].dt.isoformat(), "start": event["DTSTART"].dt.isoformat(),
        "end": event["DTEND"].dt.isoformat(), "url": str(event["URL"]), "categories": [str(c) for c in event["CATEGORIES"].cats],
    })
print(json.dumps({
    "name": str(calendar["NAME"]), "method": str(calendar["METHOD"]), "source": str(calendar["SOURCE"]), "version": str(calendar["VERSION"]),
    "refresh_seconds": calendar["REFRESH-INTERVAL"].dt.total_seconds(), "events": events,
}))
