def main(families, known, options):
    return 0
