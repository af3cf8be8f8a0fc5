#!/usr/bin/env python3
"""Makes the sample from a table of trips: prepare.py TAXIS.CSV (columns pickup, pickup_zone, pickup_borough).

A sequence is one day of March 2019, a type one of twenty neighbourhoods, a time hours since local midnight.
"""
import collections
import csv
import datetime
import gzip
import random
import sys

# Twenty neighbourhoods by the pick-up zone; zones not named here go by borough.
NEIGHBOURHOODS = [
    ("Financial District", ["Financial District North", "Financial District South", "World Trade Center",
                            "Battery Park City", "Battery Park", "Seaport", "TriBeCa/Civic Center"]),
    ("SoHo and Lower East Side", ["SoHo", "Hudson Sq", "Little Italy/NoLiTa", "Chinatown", "Lower East Side",
                                  "Two Bridges/Seward Park"]),
    ("Greenwich and West Village", ["Greenwich Village North", "Greenwich Village South", "West Village",
                                    "Meatpacking/West Village West"]),
    ("East Village", ["East Village", "Alphabet City"]),
    ("Union Square and Flatiron", ["Union Sq", "Flatiron"]),
    ("Gramercy and Kips Bay", ["Gramercy", "Kips Bay", "Stuy Town/Peter Cooper Village", "Murray Hill"]),
    ("Chelsea and Hudson Yards", ["East Chelsea", "West Chelsea/Hudson Yards"]),
    ("Penn Station", ["Penn Station/Madison Sq West", "Garment District"]),
    ("Times Square", ["Times Sq/Theatre District", "Midtown South"]),
    ("Clinton", ["Clinton East", "Clinton West"]),
    ("Midtown Center", ["Midtown Center", "Midtown North"]),
    ("Midtown East", ["Midtown East", "UN/Turtle Bay South", "Sutton Place/Turtle Bay North"]),
    ("Upper East Side South", ["Upper East Side South", "Lenox Hill West"]),
    ("Upper East Side North", ["Upper East Side North", "Lenox Hill East", "Yorkville East", "Yorkville West"]),
    ("Lincoln Square", ["Lincoln Square East", "Lincoln Square West"]),
    ("Upper West Side", ["Upper West Side South", "Upper West Side North", "Central Park", "Manhattan Valley",
                         "Bloomingdale"]),
    ("Harlem and further north", ["Manhattan"]),
    ("Airports", ["JFK Airport", "LaGuardia Airport"]),
    ("Queens", ["Queens"]),
    ("Brooklyn and Bronx", ["Brooklyn", "Bronx", "Staten Island"]),
]
TEST_DAYS = 8
SEED = 2019


def write(name, header, rows):
    # No time stamp and no file name inside, so that the same data give the same bytes.
    with open(name, "wb") as out, gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as packed:
        packed.write((header + "\n" + "".join(row + "\n" for row in rows)).encode())


def main():
    kind = {zone: number for number, (_, zones) in enumerate(NEIGHBOURHOODS) for zone in zones}
    days = collections.defaultdict(list)
    dropped = 0
    with open(sys.argv[1], newline="", encoding="utf-8") as table:
        for trip in csv.DictReader(table):
            time = datetime.datetime.fromisoformat(trip["pickup"])
            number = kind.get(trip["pickup_zone"], kind.get(trip["pickup_borough"]))
            if (time.year, time.month) != (2019, 3) or not trip["pickup_zone"] or number is None:
                dropped += 1
                continue
            days[time.day].append((time.hour * 3600 + time.minute * 60 + time.second, number))
    test = set(random.Random(SEED).sample(range(1, 32), TEST_DAYS))
    for name, chosen in (("train", [d for d in range(1, 32) if d not in test]), ("test", sorted(test))):
        rows = [f"{d},{seconds / 3600:.6f},{number}" for d in chosen for seconds, number in sorted(days[d])]
        write(f"{name}.csv.gz", "sequence,time,type", rows)
        write(f"{name}-windows.csv.gz", "sequence,start,end", [f"{d},0,24" for d in chosen])
        print(name, len(chosen), "days", len(rows), "trips:", *chosen)
    counts = collections.Counter(number for trips in days.values() for _, number in trips)
    for number, (name, _) in enumerate(NEIGHBOURHOODS):
        silent = sum(all(n != number for _, n in days[d]) for d in range(1, 32))
        print(f"| {number} | {name} | {counts[number]} | {silent} |")
    print("dropped", dropped)


if __name__ == "__main__":
    main()
