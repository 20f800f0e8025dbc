"""CIFAR-100: photographs of a hundred kinds of things, 32×32; the fine labels."""

from __future__ import annotations

from pathlib import Path

from nasbed.datasets.cifar import Cifar, published, read_batch, read_binary
from nasbed.datasets.source import Progress, Raw, folder_with, nothing_fits

_CLASSES = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish
forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle
mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine
possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar
sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle wardrobe whale
willow_tree wolf woman worm
"""


class Cifar100(Cifar):
    name = "cifar100"
    title = "CIFAR-100, photographs of a hundred kinds"
    classes = tuple(_CLASSES.split())
    remotes = published("cifar-100-python.tar.gz", "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7")

    def read(self, folder: Path, progress: Progress) -> Raw:
        progress(self.name, 0, sum(self.counts))
        if data_folder := folder_with(folder, ("train", "test", "meta")):
            parts = [read_batch(data_folder / part, "fine_labels") for part in ("train", "test")]
        elif data_folder := folder_with(folder, ("train.bin", "test.bin")):
            parts = [read_binary(data_folder / f"{part}.bin", 2) for part in ("train", "test")]
        else:
            raise nothing_fits(self.name, folder, "train, test and meta (Python) or train.bin and test.bin")
        return Raw(*parts[0], *parts[1], self.classes)
